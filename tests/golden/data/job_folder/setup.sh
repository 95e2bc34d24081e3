echo setting up

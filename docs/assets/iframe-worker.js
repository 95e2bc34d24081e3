// Pages opened from a folder may start no worker; there the search runs in a hidden frame instead.
// The theme asks its parent for "IFrameWorker" and then loads languages without importScripts.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.frame = frame.contentWindow;
      window.addEventListener("message", (event) => {
        if (event.source !== this.frame) return;
        const told = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(told);
        if (this.onmessage) this.onmessage(told);
      });
      const inside = this.frame.document;
      inside.open();
      inside.write(
        "<script>postMessage = parent.postMessage.bind(parent);" +
          "importScripts = (...urls) => urls.reduce((before, url) => before.then(() => " +
          "new Promise((done) => { const script = document.createElement('script');" +
          "script.src = url; script.onload = done; document.body.append(script); })), Promise.resolve());" +
          "addEventListener('error', (event) => parent.dispatchEvent(new ErrorEvent('error', event)));" +
          `</` + `script><body><script src="${url}"></` + `script>`,
      );
      inside.close();
    }
    postMessage(data) {
      this.frame.dispatchEvent(
        new MessageEvent("message", { data, source: window, origin: location.origin }),
      );
    }
    terminate() {
      this.frame.frameElement.remove();
    }
  };
}

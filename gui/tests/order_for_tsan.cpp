// What Qt does in order is seen as such by the thread sanitizer.
//
// Qt as distributions build it is not instrumented: the sanitizer sees neither its locks nor that
// work handed to a thread begins after it was handed over, and calls a race what both sides touch.
// Here the ways that the window hands something over, and waits, say so: these functions of Qt are
// defined once more, mark the order, and go on to Qt's own. Nothing else becomes ordered, so that
// races of the window's own are told as ever.

#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <QMetaObject>
#include <QRunnable>
#include <QThreadPool>
#include <functional>
#include <utility>

namespace {

class OrderedWork : public QRunnable {
public:
    OrderedWork(QThreadPool& pool, std::function<void()> work) : pool_(pool), work_(std::move(work))
    {}

    void run() override
    {
        __tsan_acquire(this);
        std::exchange(work_, nullptr)();
        __tsan_release(&pool_);
    }

private:
    QThreadPool& pool_;
    std::function<void()> work_;
};

// The function of the libraries that this file defines once more.
template <class Function>
Function own(const char* symbol)
{
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, symbol));
}

// A function on its way to the thread of its receiver.
class OrderedSlot : public QtPrivate::QSlotObjectBase {
public:
    explicit OrderedSlot(QSlotObjectBase* slot) : QSlotObjectBase(&carry_out), slot_(slot) {}

private:
    static void carry_out(int which, QSlotObjectBase* self, QObject* receiver, void** arguments,
                          bool*)
    {
        __tsan_acquire(self);
        auto* const own = static_cast<OrderedSlot*>(self);
        if (which == Call) {
            own->slot_->call(receiver, arguments);
            __tsan_release(self); // the sender may be the last to let go of it
        }
        if (which == Destroy) {
            own->slot_->destroyIfLastRef();
            delete own;
        }
    }

    QSlotObjectBase* slot_;
};

} // namespace

void QThreadPool::start(std::function<void()> work, int priority)
{
    auto* const ordered = new OrderedWork(*this, std::move(work));
    __tsan_release(ordered);
    start(ordered, priority);
}

bool QThreadPool::waitForDone(int limit)
{
    static const auto wait = own<bool (*)(QThreadPool*, int)>("_ZN11QThreadPool11waitForDoneEi");
    const bool done = wait(this, limit);
    if (done)
        __tsan_acquire(this);
    return done;
}

bool QMetaObject::invokeMethodImpl(QObject* object, QtPrivate::QSlotObjectBase* slot,
                                   Qt::ConnectionType type, void* result)
{
    static const auto invoke =
        own<bool (*)(QObject*, QtPrivate::QSlotObjectBase*, Qt::ConnectionType, void*)>(
            "_ZN11QMetaObject16invokeMethodImplEP7QObjectPN9QtPrivate15QSlotObjectBaseEN2Qt14"
            "ConnectionTypeEPv");
    auto* const ordered = new OrderedSlot(slot);
    __tsan_release(ordered);
    return invoke(object, ordered, type, result);
}

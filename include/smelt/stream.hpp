/// \file
/// Streams and events of a CUDA GPU: the caller's streams for smelt's work, and the order between
/// streams.
#pragma once

#include "smelt/device.hpp"
#include "smelt/export.hpp"
#include "smelt/handle.hpp"

namespace smelt {

namespace detail {
struct StreamState;
struct StreamEventState;
}  // namespace detail

/// A queue of work of a CUDA GPU: the caller's, or one that smelt creates. A cheap handle.
class SMELT_API Stream {
 public:
  /// The caller's: a CUstream or cudaStream_t of this device's primary context, which the caller
  /// keeps owning; nullptr is the default stream. It must live as long as work is queued in it.
  /// Throws UserError for a device that is not a CUDA GPU, or not available.
  Stream(const Device& device, void* handle);
  /// A new one, which does not wait for the default stream; it ends with the last handle. Throws
  /// UserError as above.
  static Stream create(const Device& device);
  /// That of the calls of this thread: StreamScope's, else smelt's own of the device. Throws
  /// UserError as above.
  static Stream current(const Device& device);

  /// The CUstream.
  void* handle() const;
  /// Where it is.
  const Device& device() const;
  /// Waits until all that was queued in it is done. Throws the errors of that work.
  void synchronize() const;

 private:
  explicit Stream(detail::Handle<const detail::StreamState> state) : state_(std::move(state)) {}
  detail::Handle<const detail::StreamState> state_;
};

/// While it lives, calls of this thread on arrays of the stream's device queue their work there,
/// and return when it is queued: functions, programs, eval(), Array::to(), and calls that are bound
/// meanwhile (a Bound keeps the stream that it was bound in). Arrays that such a call returns are
/// ready when the stream is: StreamEvent makes another stream wait for them. Scopes nest; those of
/// other devices are independent.
class SMELT_API StreamScope {
 public:
  /// Begins it.
  explicit StreamScope(const Stream& stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  Stream stream_, before_;
  bool had_ = false;
};

/// A point in a stream that other streams and the host can wait for. A cheap handle.
class SMELT_API StreamEvent {
 public:
  /// A new one, not recorded yet. With `timing`, elapsed_ms() measures between two. Throws
  /// UserError for a device that is not a CUDA GPU.
  explicit StreamEvent(const Device& device, bool timing = false);
  /// The caller's CUevent or cudaEvent_t, which the caller keeps owning.
  StreamEvent(const Device& device, void* handle);

  /// Records the point after all that is queued in the stream now.
  void record(const Stream& stream) const;
  /// What is queued in `stream` from now on waits for that point; the host does not.
  void wait(const Stream& stream) const;
  /// The host waits for it.
  void synchronize() const;
  /// Milliseconds from `start` to this one; both made with timing, recorded, and reached.
  double elapsed_ms(const StreamEvent& start) const;
  /// The CUevent.
  void* handle() const;

 private:
  detail::Handle<const detail::StreamEventState> state_;
};

}  // namespace smelt

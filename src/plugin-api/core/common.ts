// What plugins use of platform/common.
export { type Clock, CLOCK, DAY_MS, HOUR_MS, MINUTE_MS, startOfDay, utcDay } from '../../platform/common/clock.js';
export { KeyedSemaphore } from '../../platform/common/concurrency/keyed-semaphore.js';
export { Histogram, KeyedCount, LabeledCounter } from '../../platform/common/counts/counters.js';
export { DrainState } from '../../platform/common/drain-state.js';
export { Steps } from '../../platform/common/event-loop/event-loop-turns.js';
export { Extensions, ExtensionsModule } from '../../platform/common/extensions/extensions.js';
export { canonicalJson, sortedEntries, isObject } from '../../platform/common/json/json-values.js';
export {
  asArrived,
  isJsonLonger,
  jsonSource,
  rawJson,
  stringifyWithSources,
} from '../../platform/common/json/json-source.js';
export { type AddressRange, type IpAddress, isWithin, readAddress } from '../../platform/common/network/ip-address.js';
export {
  type BuiltInErrorCode,
  type ErrorCode,
  type ErrorDetail,
  ERRORS,
  factsOf,
  isDefinedCode,
  ServiceError,
} from '../../platform/common/service-error.js';
export { ShedLoad } from '../../platform/common/shed-load.js';
export { csvCell } from '../../platform/common/text/csv-cell.js';
export { curlLine, javascriptCode, pythonCode } from '../../platform/common/text/request-code.js';
export {
  cutText,
  isHighSurrogate,
  isLowSurrogate,
  toPlainLine,
  withoutTrailingSlashes,
} from '../../platform/common/text/cut-text.js';
export { timeOrderedId } from '../../platform/common/time-ordered-id.js';
export { HourlyJobs } from '../../platform/common/timers/periodic-task.js';
export {
  elapsedMs,
  realMs,
  sleep,
  startInterval,
  startTimer,
  timeoutSignal,
} from '../../platform/common/timers/pace.js';
export { withTimeout } from '../../platform/common/timers/timeouts.js';
export { VERSION } from '../../platform/common/version.js';

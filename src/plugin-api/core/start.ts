// What plugins use of platform/start.
export { RequestCounts } from '../../platform/start/request-log.js';
export {
  type FinishedRequest,
  type RequestObserver,
  type RequestScope,
  RequestWatch,
  type ScopedRequest,
} from '../../platform/start/request-watch.js';

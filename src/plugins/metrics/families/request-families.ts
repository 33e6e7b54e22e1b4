import type { Registry } from 'prom-client';
import type { RequestCounts } from '../../../plugin-api/core/start.js';
import { counter } from './metric-types.js';

export function registerRequests(registry: Registry, counts: RequestCounts): void {
  counter(registry, {
    name: 'chat_http_requests_total',
    help: 'Finished requests. The route is the pattern of the route, or none. The status is none if the client left before an answer.',
    labels: ['method', 'route', 'status'],
    *samples() {
      for (const [name, count] of counts.requests) {
        const [method = '', status = '', route = ''] = name.split(' ');
        yield [{ method, route, status }, count];
      }
    },
  });
  counter(registry, {
    name: 'chat_http_response_bytes_total',
    help: 'Bytes of answers, including headers, counted when the request is finished.',
    samples: () => [[{}, counts.bytes]],
  });
  counter(registry, {
    name: 'chat_errors_total',
    help: 'Errors sent to clients, instead of an answer or at the end of an incomplete answer.',
    labels: ['code'],
    *samples() {
      for (const [code, count] of counts.errors) yield [{ code }, count];
    },
  });
  counter(registry, {
    name: 'chat_limit_rejections_total',
    help: 'Requests refused by a limit of the tier, by a budget of reports or pages, or by a sign-in limit.',
    labels: ['limit', 'tier'],
    *samples() {
      for (const [name, count] of counts.limits) {
        const [limit = '', tier = ''] = name.split(' ');
        yield [{ limit, tier }, count];
      }
    },
  });
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it, vi } from 'vitest';
import { beginContext } from '../../../../../src/platform/http/request/request-context.js';

const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;

function idFor(sent: string | undefined): string {
  const request = { headers: { 'x-request-id': sent } } as unknown as IncomingMessage;
  const setHeader = vi.fn();
  beginContext(request, { setHeader } as unknown as ServerResponse);
  expect(setHeader.mock.calls).toEqual([['X-Request-Id', request.context.requestId]]);
  return request.context.requestId;
}

it('a request keeps its id if the id is well-formed, and has at most 128 characters', () => {
  expect(['a', 'Trace-1.2:3_4', 'x'.repeat(128)].map(idFor)).toEqual(['a', 'Trace-1.2:3_4', 'x'.repeat(128)]);
});

it.each([undefined, '', 'x'.repeat(129), 'a b', 'a\n', 'é', '<b>'])(
  'a request with the id %j gets a new id',
  (sent) => {
    expect(idFor(sent)).toMatch(UUID);
  },
);

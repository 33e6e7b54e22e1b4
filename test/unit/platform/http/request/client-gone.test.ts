import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { clientGone } from '../../../../../src/platform/http/request/client-gone.js';

function response(state: { closed: boolean; writableFinished: boolean }) {
  return Object.assign(new EventEmitter(), state, { req: { context: {} } });
}
const signalOf = (of: EventEmitter) => clientGone(of as unknown as ServerResponse);

it.each([
  ['a client that leaves before its whole response was sent has gone', false, true],
  ['a client that has its whole response has not gone', true, false],
])('%s', (_, writableFinished, isGone) => {
  const open = response({ closed: false, writableFinished: false });
  const signal = signalOf(open);
  expect([signal.aborted, signalOf(open)]).toEqual([false, signal]);
  Object.assign(open, { closed: true, writableFinished }).emit('close');
  expect(signal.aborted).toBe(isGone);

  expect(signalOf(response({ closed: true, writableFinished })).aborted).toBe(isGone);
});

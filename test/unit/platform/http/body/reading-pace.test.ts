import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ReadingPace } from '../../../../../src/platform/http/body/read-body.js';

const MIB = 1024 * 1024;

describe('the pace of reading', () => {
  const requestOf = () => {
    const calls: string[] = [];
    const request = { pause: () => calls.push('pause'), resume: () => calls.push('resume') };
    return { calls, request: request as unknown as IncomingMessage };
  };

  it('stops reading from a client that has sent too much in a turn, and resumes all of them in the next', async () => {
    const pace = new ReadingPace();
    const [first, second, third] = [requestOf(), requestOf(), requestOf()];
    pace.count(first.request, 3 * MIB);
    pace.count(second.request, MIB);
    pace.count(third.request, MIB);
    expect([first.calls, second.calls, third.calls]).toEqual([[], ['pause'], ['pause']]);

    await new Promise(setImmediate);

    expect([first.calls, second.calls, third.calls]).toEqual([[], ['pause', 'resume'], ['pause', 'resume']]);
    pace.count(third.request, 3 * MIB);
    expect(third.calls).toEqual(['pause', 'resume']);
  });
});

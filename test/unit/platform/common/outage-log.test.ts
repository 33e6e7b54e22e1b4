import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { OutageLog } from '../../../../src/platform/common/outage-log.js';

const MINUTE_MS = 60_000;

describe('the log of an outage', () => {
  const lines: string[] = [];
  const note = (line: unknown) => void lines.push(String(line));

  beforeEach(() => {
    vi.useFakeTimers();
    lines.length = 0;
    vi.spyOn(Logger.prototype, 'warn').mockImplementation(note);
    vi.spyOn(Logger.prototype, 'log').mockImplementation(note);
  });

  it('has a line at the beginning, one a minute, one at the end, and none after it', () => {
    const log = new OutageLog('Redis', 'limits are shared out.');
    log.unavailable('refused');
    for (let ms = 0; ms < 2 * MINUTE_MS; ms += 500) {
      log.unavailable('refused again');
      vi.advanceTimersByTime(500);
    }
    log.unavailable('refused again');
    log.back();
    log.back();
    vi.advanceTimersByTime(5 * MINUTE_MS);

    expect(lines).toEqual([
      'Redis is unavailable (refused): limits are shared out.',
      'Redis has been unavailable for 60 s',
      'Redis has been unavailable for 120 s',
      'Redis is back after 120 s',
    ]);
  });
});

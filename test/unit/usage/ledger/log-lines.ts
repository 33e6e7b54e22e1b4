import { Logger } from '@nestjs/common';
import { vi } from 'vitest';

export interface LogLine {
  readonly level: 'debug' | 'log' | 'warn' | 'error';
  readonly line: unknown;
}

/** Collects the lines of the log, which are not printed, until `vi.restoreAllMocks()`. */
export function collectLogLines(): LogLine[] {
  const lines: LogLine[] = [];
  for (const level of ['debug', 'log', 'warn', 'error'] as const) {
    vi.spyOn(Logger.prototype, level).mockImplementation((line: unknown) => void lines.push({ level, line }));
  }
  return lines;
}

import { vi } from 'vitest';
import { StreamLog } from '../../../../../../src/chat/durable/log/stream-log.js';
import { LogWriter, type WriterTarget } from '../../../../../../src/chat/durable/store/redis/log-writer.js';
import { memoryOf } from '../../../../../contract/durable/describe-stream-store.js';
import { Latch } from '../../../../../support/latch.js';
import { turn } from '../../../../../support/moved-time.js';

export const KEEP_MS = 5_000;

/** A log and its writer, whose clock is moved by the test. */
export interface WriterStage {
  readonly log: StreamLog;
  readonly target: { [Method in keyof WriterTarget]: ReturnType<typeof vi.fn<WriterTarget[Method]>> };
  readonly writer: LogWriter;
}

export function logWriter(): WriterStage {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const log = new StreamLog(memoryOf());
  const target = {
    write: vi.fn<WriterTarget['write']>().mockResolvedValue('ok'),
    restore: vi.fn<WriterTarget['restore']>().mockResolvedValue('ok'),
    fenced: vi.fn<WriterTarget['fenced']>(),
    over: vi.fn<WriterTarget['over']>(),
  };
  return { log, target, writer: new LogWriter(log, target, KEEP_MS) };
}

export const isDone = ({ writer }: WriterStage): Promise<boolean> =>
  Promise.race([writer.done.then(() => true), turn().then(() => false)]);

/** Writes the beginning of the stream. */
export async function begun({ log, target }: WriterStage): Promise<void> {
  log.begin();
  await turn();
  target.write.mockClear();
}

/** Opens when the next write is stored. */
export function nextWrite({ target }: WriterStage): Latch {
  const stored = new Latch();
  target.write.mockReturnValueOnce(stored.opened.then(() => 'ok'));
  return stored;
}

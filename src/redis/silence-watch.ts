const TICK_MS = 100;
/** The tick after the first command comes too soon, so that this is a silence of 500 to 600 ms. */
const SILENT_TICKS = 6;

/**
 * Notices when a connection with open questions falls silent: no answer to any of them. Many questions, slow answers and
 * a blocked event loop are no silence: each tick comes after the sockets were read.
 */
export class SilenceWatch {
  private open = 0;
  private answers = 0;
  private answersAtLastTick = 0;
  private silentTicks = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly onSilence: () => void) {}

  start(): void {
    this.timer ??= setInterval(() => {
      this.tick();
    }, TICK_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  asked(): void {
    this.open += 1;
  }

  /** @param isAnswer whether the other side has said something, and the question has not merely been given up. */
  settled(isAnswer: boolean): void {
    this.open -= 1;
    if (isAnswer) this.answers += 1;
  }

  private tick(): void {
    const isSilent = this.open > 0 && this.answers === this.answersAtLastTick;
    this.answersAtLastTick = this.answers;
    this.silentTicks = isSilent ? this.silentTicks + 1 : 0;
    if (this.silentTicks < SILENT_TICKS) return;
    this.silentTicks = 0;
    this.onSilence();
  }
}

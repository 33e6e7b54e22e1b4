const TICK_MS = 100;
/** The first command can come just before a tick, so six ticks are a silence of 500 to 600 ms. */
const SILENT_TICKS = 6;

/**
 * Notices when a connection has open commands and gets no answer to any of them. Many commands, slow answers and a blocked
 * event loop do not count as silence, because the sockets are read before each tick.
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

  /** @param isAnswer whether the server has answered. `false` when the command has failed without an answer. */
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

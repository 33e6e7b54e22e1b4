const TICK_MS = 100;
/** The first command can come just before a tick, so six ticks are a timeout of 500 to 600 ms. */
const IDLE_TICKS = 6;

/**
 * Notices when a connection has pending commands and gets no reply to any of them. Many commands, slow replies and a blocked
 * event loop do not count, because the sockets are read before each tick.
 *
 * The `socketTimeout` of @redis/client also counts what is written, so it never expires while commands are sent. Its timeout
 * of commands ends when a command is written. Test: "is down when the server answers nothing, although commands beyond the
 * limit fail at once".
 */
export class ConnectionIdleTimeout {
  private pending = 0;
  private replies = 0;
  private repliesAtLastTick = 0;
  private idleTicks = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly onTimeout: () => void) {}

  start(): void {
    this.timer ??= setInterval(() => {
      this.tick();
    }, TICK_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  sent(): void {
    this.pending += 1;
  }

  /** @param isReply whether the server has replied. `false` when the command has failed without a reply. */
  settled(isReply: boolean): void {
    this.pending -= 1;
    if (isReply) this.replies += 1;
  }

  private tick(): void {
    const isIdle = this.pending > 0 && this.replies === this.repliesAtLastTick;
    this.repliesAtLastTick = this.replies;
    this.idleTicks = isIdle ? this.idleTicks + 1 : 0;
    if (this.idleTicks < IDLE_TICKS) return;
    this.idleTicks = 0;
    this.onTimeout();
  }
}

import type { OnApplicationShutdown } from '@nestjs/common';
import type { RedisConnection } from '../../redis/redis-connection.js';
import { accountKeys } from './account-keys.js';
import { RENEW } from './account-scripts.js';

/** Three times in the life of a lease, so that one renewal may fail. */
const RENEW_EVERY_MS = 8000;
/** Few enough that Redis, which does one thing at a time, is not held up for long. */
const LEASES_PER_COMMAND = 100;
const COMMANDS_AT_ONCE = 100;

export interface HeldParts {
  readonly id: string;
  readonly accountId: string;
  holdsPlace: boolean;
  /** Tokens, until they are settled. */
  reserved: number | undefined;
}

/** What this process holds of the accounts' limits. Renews it in Redis, and adds what Redis does not know of. */
export class HeldLeases implements OnApplicationShutdown {
  private readonly byAccount = new Map<string, Set<HeldParts>>();
  private timer: NodeJS.Timeout | undefined;
  private renewing = false;

  constructor(private readonly redis: RedisConnection) {
    redis.whenBack(() => void this.renew());
  }

  add(lease: HeldParts): void {
    const ofAccount = this.byAccount.get(lease.accountId) ?? new Set();
    this.byAccount.set(lease.accountId, ofAccount.add(lease));
    this.timer ??= setInterval(() => void this.renew(), RENEW_EVERY_MS).unref();
  }

  /** To be called when a lease holds less than before. */
  removeIfEmpty(lease: HeldParts): void {
    if (lease.holdsPlace || lease.reserved !== undefined) return;
    const ofAccount = this.byAccount.get(lease.accountId);
    if (ofAccount?.delete(lease) === true && ofAccount.size === 0) this.byAccount.delete(lease.accountId);
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async renew(): Promise<void> {
    if (this.renewing) return;
    this.renewing = true;
    try {
      let commands: Promise<unknown>[] = [];
      for (const [accountId, leases] of this.byAccount) {
        for (const args of renewals(leases)) {
          commands.push(this.redis.run((client) => RENEW.run(client, accountKeys(accountId), args)));
          if (commands.length < COMMANDS_AT_ONCE) continue;
          await Promise.all(commands);
          commands = [];
        }
      }
      await Promise.all(commands);
    } catch {
      // Redis is away: the next round, or its return, renews all.
    } finally {
      this.renewing = false;
    }
  }
}

function* renewals(leases: ReadonlySet<HeldParts>): Generator<string[]> {
  let args: string[] = [];
  for (const { id, holdsPlace, reserved } of leases) {
    args.push(id, holdsPlace ? '1' : '0', String(reserved ?? -1));
    if (args.length < 3 * LEASES_PER_COMMAND) continue;
    yield args;
    args = [];
  }
  if (args.length > 0) yield args;
}

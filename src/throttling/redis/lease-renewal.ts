import type { OnApplicationShutdown } from '@nestjs/common';
import { inChunks } from '../../platform/common/in-chunks.js';
import { startInterval } from '../../platform/common/timers/pace.js';
import type { RedisConnection } from '../../platform/redis/redis-connection.js';
import { accountKeys, RENEW } from './account-scripts.js';

/** Three times in the life of a lease, so that one renewal may fail. */
const RENEW_EVERY_MS = 8000;
/** A small number, so that one command does not block Redis for long. Redis runs one command at a time. */
const LEASES_PER_COMMAND = 100;
const COMMANDS_AT_ONCE = 100;

export interface RenewedLease {
  readonly id: string;
  readonly accountId: string;
  /** The API key whose limits the lease counts against. `undefined`: the account. */
  readonly apiKey?: string | undefined;
  holdsSlot: boolean;
  /** The reserved tokens until they are settled, then `undefined`. */
  reserved: number | undefined;
}

/** The leases that this process holds. Renews them in Redis, and adds leases that Redis does not know. */
export class LeaseRenewal implements OnApplicationShutdown {
  /** The leases of each account, and of each API key with limits of its own. */
  private readonly byAccount = new Map<string, Set<RenewedLease>>();
  private timer: NodeJS.Timeout | undefined;
  private renewing = false;

  constructor(private readonly redis: RedisConnection) {
    redis.whenBack(() => void this.renew());
  }

  add(lease: RenewedLease): void {
    const [use] = accountKeys(lease.accountId, lease.apiKey);
    this.byAccount.set(use, (this.byAccount.get(use) ?? new Set()).add(lease));
    this.timer ??= startInterval(() => void this.renew(), RENEW_EVERY_MS);
  }

  /** Removes a lease that holds nothing more. Call this after a lease has released its slot or settled its tokens. */
  removeIfEmpty(lease: RenewedLease): void {
    if (lease.holdsSlot || lease.reserved !== undefined) return;
    const [use] = accountKeys(lease.accountId, lease.apiKey);
    const leases = this.byAccount.get(use);
    if (leases?.delete(lease) === true && leases.size === 0) this.byAccount.delete(use);
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async renew(): Promise<void> {
    if (this.renewing) return;
    this.renewing = true;
    try {
      let commands: Promise<unknown>[] = [];
      for (const leases of this.byAccount.values()) {
        const [first] = leases;
        if (first === undefined) continue;
        const keys = accountKeys(first.accountId, first.apiKey);
        for (const some of inChunks([...leases], LEASES_PER_COMMAND)) {
          // The arguments are made when the command is sent, also when it is sent again after a redirection: a lease that was
          // released meanwhile must not come back.
          commands.push(this.redis.run(keys[0], (client) => RENEW.run(client, keys, renewalOf(some))));
          if (commands.length < COMMANDS_AT_ONCE) continue;
          await Promise.allSettled(commands);
          commands = [];
        }
      }
      // If Redis is unavailable or slow, the leases are renewed in the next round, or when Redis is back.
      await Promise.allSettled(commands);
    } finally {
      this.renewing = false;
    }
  }
}

/** The arguments of {@link RENEW} for what the leases still hold. */
function renewalOf(leases: readonly RenewedLease[]): string[] {
  const held = leases.filter(({ holdsSlot, reserved }) => holdsSlot || reserved !== undefined);
  return held.flatMap(({ id, holdsSlot, reserved }) => [id, holdsSlot ? '1' : '0', String(reserved ?? -1)]);
}

import { Injectable } from '@nestjs/common';
import { ChatPlugin, type AccountLimits, type LimitedCall } from 'chat-streaming-service';
import { z } from 'zod';

const Tier = z.strictObject({
  /** The requests per minute of all accounts of the tier together. Without it, the tier has no such limit. */
  requests_per_minute: z.int().min(0).optional(),
});

/** A limit that the accounts of a team share. Each team has a tier of its own. */
@Injectable()
export class TeamLimits implements AccountLimits {
  limitsOf({ principal: { tier } }: LimitedCall) {
    const { requests_per_minute: max } = tier.plugins['team-limits'] as z.infer<typeof Tier>;
    if (max === undefined) return [];
    const shared = { scope: `team:${tier.name}`, label: 'requests per minute', header: 'Team' };
    return [{ name: 'team-limits-rate', unit: 'requests', window: 'minute', max, ...shared } as const];
  }
}

@ChatPlugin({ name: 'team-limits', compatibility: '^1', tier: Tier, limits: [TeamLimits] })
export class TeamLimitsPlugin {}

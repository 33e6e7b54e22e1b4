import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, MoreThan, Repository } from 'typeorm';
import { CLOCK, type Clock } from '../common/clock.js';
import { ApiKey } from './api-key.entity.js';
import { ValidityWatch } from './validity-watch.js';

/** Watches API keys. */
@Injectable()
export class RevocationWatch extends ValidityWatch {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    super();
  }

  protected override async validOf(keyIds: readonly string[]): Promise<ReadonlySet<string>> {
    const unrevoked = { id: In(keyIds), revokedAt: IsNull() };
    const keys = await this.keys.find({
      select: { id: true },
      where: [
        { ...unrevoked, expiresAt: IsNull() },
        { ...unrevoked, expiresAt: MoreThan(new Date(this.now())) },
      ],
    });
    return new Set(keys.map(({ id }) => id));
  }
}

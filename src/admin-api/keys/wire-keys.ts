import { Injectable } from '@nestjs/common';
import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { KeyBudgets } from '../../usage/budgets/key-budgets.js';
import { wireKey, type KeyDto, type NewKeyDto } from './key.dto.js';

/** Converts API keys to the form of the API, with what is left of their budgets. */
@Injectable()
export class WireKeys {
  constructor(private readonly budgets: KeyBudgets) {}

  async all(accountId: string, keys: readonly ListedApiKey[]): Promise<KeyDto[]> {
    const budgets = await this.budgets.of(accountId, keys);
    return keys.map((key) => wireKey(accountId, key, budgets.get(key.id)));
  }

  async one(accountId: string, key: ListedApiKey): Promise<KeyDto> {
    const budgets = await this.budgets.of(accountId, [key]);
    return wireKey(accountId, key, budgets.get(key.id));
  }

  /** @param secret `null` if the key was created by an earlier request. */
  async created(accountId: string, key: ListedApiKey, secret: string | null): Promise<NewKeyDto> {
    return Object.assign(await this.one(accountId, key), { key: secret });
  }
}

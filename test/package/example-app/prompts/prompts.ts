import { Injectable } from '@nestjs/common';
import { ServiceError } from 'chat-streaming-service';

export interface Prompt {
  readonly name: string;
  readonly text: string;
}

/** Keeps them in memory, as this is an example. */
@Injectable()
export class Prompts {
  private readonly byAccount = new Map<string, Map<string, Prompt>>();

  /** @throws {ServiceError} `invalid_request` when the account has one of this name. */
  add(accountId: string, { name, text }: Prompt): Prompt {
    const own = this.byAccount.get(accountId) ?? new Map<string, Prompt>();
    if (own.has(name)) {
      throw new ServiceError('invalid_request', 'There is a prompt of this name.', {
        details: [{ field: 'name', message: 'is taken' }],
      });
    }
    const prompt = { name, text };
    this.byAccount.set(accountId, own.set(name, prompt));
    return prompt;
  }

  of(accountId: string): readonly Prompt[] {
    return [...(this.byAccount.get(accountId)?.values() ?? [])];
  }
}

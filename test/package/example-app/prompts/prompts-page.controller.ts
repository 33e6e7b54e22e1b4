import { Get, Header } from '@nestjs/common';
import { CurrentPrincipal, OutsideApi, SessionOnly, type Principal } from 'chat-streaming-service';
import { Prompts } from './prompts.js';

@OutsideApi('prompts')
@SessionOnly()
export class PromptsPage {
  constructor(private readonly prompts: Prompts) {}

  @Get()
  @Header('Content-Type', 'text/plain; charset=utf-8')
  show(@CurrentPrincipal() { accountId }: Principal): string {
    return this.prompts
      .of(accountId)
      .map(({ name, text }) => `${name}: ${text}`)
      .join('\n');
  }
}

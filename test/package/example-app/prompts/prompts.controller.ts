import { Body, Controller, Get, Post } from '@nestjs/common';
import { CurrentPrincipal, Public, type Principal } from 'chat-streaming-service';
import { NewPrompt } from './new-prompt.dto.js';
import { Prompts, type Prompt } from './prompts.js';

@Controller('prompts')
export class PromptsController {
  constructor(private readonly prompts: Prompts) {}

  @Post()
  add(@Body() prompt: NewPrompt, @CurrentPrincipal() { accountId }: Principal): Prompt {
    return this.prompts.add(accountId, prompt);
  }

  @Get()
  own(@CurrentPrincipal() { accountId }: Principal) {
    return { prompts: this.prompts.of(accountId) };
  }

  @Public()
  @Get('suggestions')
  suggestions() {
    return { prompts: [{ name: 'Summary', text: 'Sum this up in three sentences.' }] satisfies Prompt[] };
  }
}

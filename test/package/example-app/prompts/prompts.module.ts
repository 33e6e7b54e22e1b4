import { Module } from '@nestjs/common';
import { Prompts } from './prompts.js';
import { PromptsController } from './prompts.controller.js';
import { PromptsPage } from './prompts-page.controller.js';

/** Prompts that an account keeps to use again. */
@Module({ controllers: [PromptsController, PromptsPage], providers: [Prompts] })
export class PromptsModule {}

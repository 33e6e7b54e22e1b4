import { Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountsModule } from '../accounts/accounts.module.js';
import { configProvider } from '../plugins/chat-plugin.decorator.js';
import type { PluginDescription } from '../plugins/plugin-description.js';
import { UsageReportsModule } from '../usage/reports/usage-reports.module.js';
import type { Command } from './command.js';

/** Returns the commands of a plugin. */
export function commandsOf({ admin }: PluginDescription): Command[] {
  return (admin?.commands ?? []).map((type) => ({
    required: {},
    optional: {},
    ...type.command,
    run: (app, options) => app.get(type, { strict: false }).run(options),
  }));
}

/** Returns the module that creates the commands of a plugin. */
export function commandModule({ name, entities = [], admin }: PluginDescription): DynamicModule {
  @Module({})
  class PluginCommandsModule {}
  return {
    module: PluginCommandsModule,
    imports: [
      AccountsModule,
      UsageReportsModule,
      ...(entities.length === 0 ? [] : [TypeOrmModule.forFeature([...entities])]),
      ...(admin?.imports ?? []),
    ],
    providers: [configProvider(name), ...(admin?.providers ?? []), ...(admin?.commands ?? [])],
  };
}

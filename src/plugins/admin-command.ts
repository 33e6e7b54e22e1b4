import type { ModuleMetadata, Type } from '@nestjs/common';

/** The command line of a command. */
export interface CommandLine {
  /** The name as the operator types it, such as `prompts list`. */
  readonly name: string;
  /** Required options by name, without dashes, each with the placeholder for its value in the usage text. */
  readonly required?: Readonly<Record<string, string>>;
  /** Optional options, in the same form. */
  readonly optional?: Readonly<Record<string, string>>;
  /** Options without a value. A flag on the command line has the value `true`. */
  readonly flags?: readonly string[];
}

/**
 * A command of the admin program.
 *
 * @since 1.0
 */
export interface AdminCommand {
  /**
   * @param options the options by name. Required options always have a value.
   * @returns a value to print as one line of JSON, or a text to print unchanged.
   * @throws {ServiceError} when the command cannot do what it should. The operator sees the message.
   */
  run(options: Readonly<Record<string, string | undefined>>): Promise<unknown>;
}

/** An injectable command. */
export interface AdminCommandType extends Type<AdminCommand> {
  readonly command: CommandLine;
}

/**
 * The commands of a plugin. The admin program does not serve requests, so it creates only the commands and what they name
 * here. The database with the entities of the plugin, `PLUGIN_CONFIG`, `AccountsService`, `ApiKeysService` and
 * `UsageReports` are there.
 */
export interface AdminExtension extends Pick<ModuleMetadata, 'imports' | 'providers'> {
  readonly commands: readonly AdminCommandType[];
}

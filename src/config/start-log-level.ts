import { LOG_LEVELS, type LogLevel } from './config.js';

/**
 * Returns the level for what is logged before the configuration is loaded, such as migrations: LOG_LEVEL, or `info` if the
 * variable is unset or invalid. An invalid value ends the start later, with all other problems.
 */
export function startLogLevel(variables: NodeJS.ProcessEnv = process.env): LogLevel {
  return LOG_LEVELS.find((level) => level === variables['LOG_LEVEL']) ?? 'info';
}

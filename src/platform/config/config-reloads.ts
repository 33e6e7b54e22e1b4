import { Injectable } from '@nestjs/common';
import type { Config } from './config.js';

/** The result of the last load of CONFIG_FILE. */
export interface ConfigLoad {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** `unchanged`: the file was read again, and was the same. `invalid`: the previous configuration stayed. */
  readonly result: 'loaded' | 'unchanged' | 'invalid';
  /** What is wrong with an invalid file, by name. */
  readonly problem?: string;
}

/**
 * Checks a configuration before it is used. Returns a function that uses it, which must not throw.
 *
 * @throws {ConfigError} when the configuration is invalid.
 */
type ConfigCheck = (next: Config) => () => void;

/** Counts how often CONFIG_FILE was read again, for metrics, and keeps the last result. */
@Injectable()
export class ConfigReloads {
  succeeded = 0;
  /** The file was invalid, and the previous configuration stayed. */
  failed = 0;
  /** At first, the load at the start. */
  last: ConfigLoad = { at: Date.now(), result: 'loaded' };
  private readonly checks: ConfigCheck[] = [];

  /** Adds a check for each later load. */
  addCheck(check: ConfigCheck): void {
    this.checks.push(check);
  }

  /** Runs all checks. @throws {ConfigError} when one of them fails. */
  readonly check: ConfigCheck = (next) => {
    const uses = this.checks.map((check) => check(next));
    return () => {
      for (const use of uses) use();
    };
  };
}

import { ExtensionPoint, Extensions } from '../platform/common/extensions/extensions.js';
import { withTimeout } from '../platform/common/timers/timeouts.js';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { ConfigError } from '../platform/config/config-error.js';

/**
 * A part of `GET /health/ready` that a plugin adds. While a check fails, the process is not ready, and gets no new requests. So
 * check only what every request of this process needs.
 *
 * @since 1.0
 */
export interface ReadinessCheck {
  /** The name of the part: lower-case letters, digits, `-` and `_`. Begin it with the name of the plugin. */
  readonly name: string;
  /**
   * Returns whether the part works. A rejection counts as `down`, and so does a check that takes longer than 2 seconds. Every
   * probe calls the method, so answer quickly, for example from the result of a timer.
   */
  isReady(): boolean | Promise<boolean>;
}

/** The readiness checks of plugins. */
export const READINESS_CHECKS = new ExtensionPoint<ReadinessCheck>('readiness');

const LIMIT_MS = 2_000;
const NAME = /^[a-z][a-z0-9_-]*$/;
const OWN_NAMES: readonly string[] = ['database', 'redis', 'limits', 'draining'];

/** Asks the readiness checks of the plugins. */
@Injectable()
export class PluginReadiness implements OnModuleInit {
  private readonly logger = new Logger('Readiness');
  private checks: readonly ReadinessCheck[] = [];
  private readonly down = new Set<string>();

  constructor(private readonly extensions: Extensions) {}

  /** @throws {ConfigError} when the name of a check is invalid or repeated. */
  onModuleInit(): void {
    this.checks = this.extensions.of(READINESS_CHECKS);
    const names = this.checks.map(({ name }) => name);
    const problems = names
      .filter((name, index) => !NAME.test(name) || OWN_NAMES.includes(name) || names.indexOf(name) !== index)
      .map((name) => `The readiness check "${name}" of a plugin needs another name.`);
    if (problems.length > 0) throw new ConfigError(problems);
  }

  /** Returns the state of each check by its name. */
  async parts(): Promise<Readonly<Record<string, 'up' | 'down'>>> {
    const states = this.checks.map(async (check) => [check.name, await this.stateOf(check)] as const);
    return Object.fromEntries(await Promise.all(states));
  }

  private async stateOf(check: ReadinessCheck): Promise<'up' | 'down'> {
    let reason: unknown = 'it says so';
    const asked = async (): Promise<boolean> => check.isReady();
    const late = (): Error => new Error(`no answer within ${LIMIT_MS} ms`);
    const isUp = await withTimeout(asked(), LIMIT_MS, late).catch((error: unknown) => {
      reason = error;
      return false;
    });
    this.log(check.name, isUp, reason);
    return isUp ? 'up' : 'down';
  }

  /** Logs each change once. Probes ask every few seconds. */
  private log(name: string, isUp: boolean, reason: unknown): void {
    if (isUp ? !this.down.delete(name) : this.down.has(name)) return;
    if (isUp) this.logger.log(`The readiness check ${name} passes again`);
    else {
      this.down.add(name);
      this.logger.warn({ msg: `The readiness check ${name} fails`, reason: String(reason) });
    }
  }
}

import { ExtensionPoint } from '../common/extensions/extension-point.js';

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

/** The configuration is invalid. `problems` names every problem, but never a value, because values can be secrets. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    const lines = problems.map((problem) => `  - ${problem}`).join('\n');
    super(
      problems.length === 1
        ? `The configuration has a problem: ${problems.join()}`
        : `The configuration has ${problems.length} problems:\n${lines}`,
    );
    this.name = 'ConfigError';
  }
}

/**
 * Describes to the operator why a server cannot listen.
 *
 * @param variable the name of the variable that sets the port.
 */
export function listenProblem(variable: string, code: string | undefined, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `${variable}: ${port} on ${host} is already in use by another process`;
    case 'EACCES':
      return `${variable}: ${port} needs more privileges than this user has`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `HOST: ${host} is not an address of this machine`;
    default:
      return `HOST, ${variable}: cannot listen on ${host}:${port} (${code ?? 'unknown error'})`;
  }
}

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

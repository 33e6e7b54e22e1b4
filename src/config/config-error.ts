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

export interface Instruction {
  readonly name: string;
  readonly words: string;
}

/** A stage: what it is made from, its name, and its instructions in order, without `FROM`. */
export interface Stage {
  readonly from: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

export interface Dockerfile {
  /** Before the first stage. */
  readonly args: readonly Instruction[];
  readonly stages: readonly Stage[];
}

/** Reads a Dockerfile that has no here-documents. */
export function parseDockerfile(text: string): Dockerfile {
  const args: Instruction[] = [];
  const stages: { from: string; name: string | undefined; instructions: Instruction[] }[] = [];
  const lines = text
    .split('\n')
    .filter((line) => !/^\s*(#|$)/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  for (const line of lines) {
    const [, name, words = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === undefined) throw new Error(`This is not an instruction: ${line}`);
    if (name === 'FROM') {
      const [from = '', , stageName] = words.split(/\s+/);
      stages.push({ from, name: stageName, instructions: [] });
    } else (stages.at(-1)?.instructions ?? args).push({ name, words });
  }
  return { args, stages };
}

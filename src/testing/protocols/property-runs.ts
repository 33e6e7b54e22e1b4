import fc from 'fast-check';

/** Returns the number of runs of a property: `numRuns` of `fc.configureGlobal` if it is set, and `usual` otherwise. */
export function runs(usual: number): { readonly numRuns: number } {
  return { numRuns: fc.readConfigureGlobal().numRuns ?? usual };
}

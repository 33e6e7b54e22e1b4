/** The number of random cases of a property: few while someone waits for the tests, and many in CI. */
export const PROPERTY_RUNS = process.env['CI'] === 'true' ? 3_000 : 200;

/** Whether a suite tries all that it can, as in CI. Otherwise someone waits for the tests. */
export const IS_THOROUGH = process.env['CI'] === 'true';

/** The number of random cases of a property. */
export const PROPERTY_RUNS = IS_THOROUGH ? 3_000 : 200;

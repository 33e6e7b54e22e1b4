/** Far above the 255 characters that the standard allows for `sub`. */
const MAX_LENGTH = 1_024;

/** Whether a claim can be stored as an id of the issuer: of a person, of a session or of a token. */
export function isIssuerId(claim: unknown): claim is string {
  return typeof claim === 'string' && claim !== '' && claim.length <= MAX_LENGTH && !claim.includes('\0');
}

/** The maximum length of a `Content-Type`. The types of this API need at most 60 characters, including their parameter. */
const MAX_CHARACTERS = 256;

/**
 * Whether a `Content-Type` names `type` in UTF-8: without parameters, or with `charset=utf-8` as the only parameter (RFC
 * 9110, section 8.3.1). Case, quotes around the value, white space and empty parameters (`;`) make no difference.
 *
 * The function does not use a regular expression. Anyone can send the header, and this code takes a small, fixed number of
 * steps for every value.
 *
 * @param type in lower case, such as `application/json`.
 */
export function isUtf8MediaType(contentType: string | undefined, type: string): boolean {
  if (contentType === type) return true;
  if (contentType === undefined || contentType.length > MAX_CHARACTERS) return false;
  const [name, ...rest] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const parameters = rest.filter((part) => part !== '');
  return name === type && (parameters.length === 0 || (parameters.length === 1 && parameters.every(isUtf8Charset)));
}

function isUtf8Charset(parameter: string): boolean {
  const equalsSign = parameter.indexOf('=');
  const name = parameter.slice(0, equalsSign).trim();
  const value = parameter.slice(equalsSign + 1).trim();
  return name === 'charset' && (value === 'utf-8' || value === '"utf-8"');
}

/** The name of the security scheme of operator keys in the OpenAPI document. */
export const OPERATOR_SECURITY = 'operator';

/** The path of the page of operators with the keys of the API for operators. */
export const OPERATOR_KEYS_PATH = '/operator/keys';

/** The path of the pages of operators for invitations. */
export const INVITATIONS_PATH = '/operator/invitations';
export const INVITE_PATH = `${INVITATIONS_PATH}/new`;

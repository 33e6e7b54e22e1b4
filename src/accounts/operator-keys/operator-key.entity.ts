import { Column, Entity, Index } from 'typeorm';
import { StoredKey } from '../credentials/stored-key.js';

/** A `read` key reads everything that operators see. A `write` key can also change it. */
export const OPERATOR_SCOPES = ['read', 'write'] as const;
export type OperatorScope = (typeof OPERATOR_SCOPES)[number];

/** A credential of the API for operators. It belongs to no account. */
@Entity('operator_keys')
@Index(['createdAt', 'id'])
export class OperatorKey extends StoredKey {
  @Column({ type: 'text' })
  readonly scope!: OperatorScope;
}

import { Column, PrimaryColumn } from 'typeorm';
import { TimestampColumn } from '../../database/queries/timestamp-column.js';

/** The columns that each kind of key has. The key itself is not stored. */
export abstract class StoredKey {
  @PrimaryColumn({ type: 'text' })
  readonly id!: string;

  @Column({ type: 'text' })
  readonly name!: string;

  /** The key's first characters, to tell keys apart. */
  @Column({ type: 'text' })
  readonly prefix!: string;

  @Column({ type: 'text', name: 'hashed_key', unique: true })
  readonly hashedKey!: string;

  @TimestampColumn({ name: 'created_at' })
  readonly createdAt!: Date;

  @TimestampColumn({ name: 'expires_at', nullable: true })
  readonly expiresAt!: Date | null;

  /** Up to a minute late, see `UseRecorder`. */
  @TimestampColumn({ name: 'last_used_at', nullable: true })
  readonly lastUsedAt!: Date | null;

  @TimestampColumn({ name: 'revoked_at', nullable: true })
  readonly revokedAt!: Date | null;
}

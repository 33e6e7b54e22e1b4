import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, Unique } from 'typeorm';
import { TimestampColumn } from '../../database/queries/timestamp-column.js';
import { Account } from '../account/account.entity.js';

/** A person as an issuer of OpenID Connect knows it, who signs in to the account. An account has one identity per issuer. */
@Entity('account_identities')
@Unique(['accountId', 'issuer'])
export class AccountIdentity {
  /** The claim `iss`. */
  @PrimaryColumn({ type: 'text' })
  readonly issuer!: string;

  /** The claim `sub`. It never changes, and no other person of the issuer gets it. */
  @PrimaryColumn({ type: 'text' })
  readonly subject!: string;

  @Column({ type: 'text', name: 'account_id' })
  readonly accountId!: string;

  @ManyToOne(() => Account, { onDelete: 'CASCADE', nullable: false })
  @JoinColumn({ name: 'account_id' })
  readonly account!: Account;

  /** The address that the issuer sent last. It may differ from the address of the account. For people to read only. */
  @Column({ type: 'text', nullable: true })
  readonly email!: string | null;

  @TimestampColumn({ name: 'created_at' })
  readonly createdAt!: Date;

  @TimestampColumn({ name: 'last_sign_in_at' })
  readonly lastSignInAt!: Date;
}

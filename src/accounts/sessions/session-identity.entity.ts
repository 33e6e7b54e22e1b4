import { Column, Entity, Index, JoinColumn, OneToOne, PrimaryColumn } from 'typeorm';
import { Session } from './session.entity.js';

/** The sign-in at an issuer by which a session began. A session that began with a password has none. */
@Entity('session_identities')
@Index(['issuer', 'subject'])
@Index(['issuer', 'sid'])
export class SessionIdentity {
  @PrimaryColumn({ type: 'text', name: 'session_id' })
  readonly sessionId!: string;

  @OneToOne(() => Session, { onDelete: 'CASCADE', nullable: false })
  @JoinColumn({ name: 'session_id' })
  readonly session!: Session;

  @Column({ type: 'text' })
  readonly issuer!: string;

  @Column({ type: 'text' })
  readonly subject!: string;

  /** The issuer's id of its own session, if it has sent one. */
  @Column({ type: 'text', nullable: true })
  readonly sid!: string | null;

  /** The ID token, which the issuer wants back when the person signs out. `null` for an unusually long one. */
  @Column({ type: 'text', name: 'id_token', nullable: true })
  readonly idToken!: string | null;
}

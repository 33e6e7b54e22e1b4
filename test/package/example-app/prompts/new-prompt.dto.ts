import { IsString, Length } from 'class-validator';

export class NewPrompt {
  @Length(1, 40, { message: 'must have 1 to 40 characters' })
  @IsString({ message: 'must be a string' })
  readonly name!: string;

  @Length(1, 4000, { message: 'must have 1 to 4000 characters' })
  @IsString({ message: 'must be a string' })
  readonly text!: string;
}

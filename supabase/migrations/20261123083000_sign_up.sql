-- Sign-up opens an account only for who has both the mailbox and the password of that sign-up, and tells nobody which
-- addresses have one.

-- The mark that an e-mail leaves on the client ID it was used with: it names nobody, and another ID makes another mark.
create function private.mark_of(client_id text, email text) returns text
language sql immutable
set search_path = ''
as $$
  select encode(sha256(convert_to(client_id || ' ' || lower(email), 'UTF8')), 'hex')
$$;
revoke all on function private.mark_of(text, text) from public;

-- A client ID is spent by an address that has an account already as by a new one. From then on it admits that address
-- and no other, since `used_at`. `password_proven_at`: when somebody with the token of its sign-up's mail gave the
-- password as well.
alter table public.client_ids
  add column used_with text,
  add column used_at timestamptz,
  add column password_proven_at timestamptz;
update public.client_ids
set used_with = private.mark_of(client_ids.client_id, account.email), used_at = claimed_at
from auth.users as account
where account.id = client_ids.claimed_by;
alter table public.client_ids add check (claimed_by is null or used_with is not null);

-- Whether a person with this e-mail may sign up with this client ID. It is asked before the sign-up, and makes way for
-- it: an account of that address which nobody ever confirmed may be a stranger's, who chose its password, and goes. Its
-- client ID stays spent. For an hour from the first use of its client ID an account stays: whoever reads the mailbox has
-- that long to confirm it. A client ID that was used before moves only the account it made, a minute later at the
-- earliest, so that nobody's mailbox is flooded: else two IDs could take turns, and nobody would ever get in.
drop function public.client_id_admits(text, text);
create function public.admit_sign_up(client_id text, email text) returns boolean
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  mark text := private.mark_of(client_id, email);
  invitation public.client_ids;
  pending uuid;
begin
  select * into invitation
  from public.client_ids as issued
  where issued.client_id = admit_sign_up.client_id and coalesce(issued.used_with, mark) = mark
  for update;
  if not found then
    return false;
  end if;
  select account.id into pending
  from auth.users as account
  where account.email = lower(admit_sign_up.email)
    and account.email_confirmed_at is null
    and account.last_sign_in_at is null
    and case
      when invitation.used_with is null then not exists (
        select from public.client_ids as holder
        where holder.claimed_by = account.id and holder.used_at > now() - interval '1 hour'
      )
      else invitation.claimed_by = account.id and account.created_at < now() - interval '1 minute'
    end
  for update;
  if found then
    update public.client_ids as spent
    set claimed_by = null, claimed_at = null, password_proven_at = null
    where spent.claimed_by = pending;
    delete from auth.users where users.id = pending;
    -- Spent at once: one client ID moves one account out of the way, however many sign-ups come together.
    update public.client_ids as spent set used_with = mark, used_at = coalesce(spent.used_at, now())
    where spent.client_id = admit_sign_up.client_id;
  end if;
  return true;
end
$$;
revoke all on function public.admit_sign_up(text, text) from public, anon, authenticated;
grant execute on function public.admit_sign_up(text, text) to service_role;

-- Spends a client ID on an e-mail, after a sign-up that auth took; false when another e-mail came first.
create function public.spend_client_id(client_id text, email text) returns boolean
language sql volatile security definer
set search_path = ''
as $$
  with spent as (
    update public.client_ids as invitation
    set used_with = private.mark_of(spend_client_id.client_id, spend_client_id.email),
      used_at = coalesce(invitation.used_at, now())
    where invitation.client_id = spend_client_id.client_id
      and coalesce(invitation.used_with, private.mark_of(spend_client_id.client_id, spend_client_id.email))
        = private.mark_of(spend_client_id.client_id, spend_client_id.email)
    returning true
  )
  select exists (select from spent)
$$;
revoke all on function public.spend_client_id(text, text) from public, anon, authenticated;
grant execute on function public.spend_client_id(text, text) to service_role;

-- Takes an e-mail's marks off the client IDs that made no account, when its account is erased: they stay spent.
create function public.forget_email(email text) returns void
language sql volatile security definer
set search_path = ''
as $$
  update public.client_ids set used_with = ''
  where claimed_by is null and used_with = private.mark_of(client_id, email)
$$;
revoke all on function public.forget_email(text) from public, anon, authenticated;
grant execute on function public.forget_email(text) to service_role;

-- The hook and the gate ask the same: an ID that made no account yet and was used with this e-mail, if with any. A user
-- without an e-mail leaves no mark, which the table refuses.
create or replace function private.before_user_created(event jsonb) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  id text := event -> 'user' -> 'user_metadata' ->> 'client_id';
  mark text := private.mark_of(id, event -> 'user' ->> 'email');
begin
  if exists (
    select from public.client_ids
    where client_ids.client_id = id and claimed_by is null and coalesce(used_with, mark) = mark
  ) then
    return '{}'::jsonb;
  end if;
  return jsonb_build_object('error', jsonb_build_object(
    'http_code', 400,
    'message', 'This Client ID is not known or has been used. Ask the company for a new one.'
  ));
end
$$;

create or replace function private.claim_client_id() returns trigger
language plpgsql security definer
set search_path = ''
as $$
declare
  id text := new.raw_user_meta_data ->> 'client_id';
  mark text := private.mark_of(id, new.email);
begin
  update public.client_ids
  set claimed_by = new.id, claimed_at = now(), used_with = mark, used_at = coalesce(used_at, now())
  where client_ids.client_id = id and claimed_by is null and coalesce(used_with, mark) = mark;
  if not found then
    raise exception 'no unclaimed client ID in the new user''s metadata';
  end if;
  return new;
end
$$;

-- Notes that somebody has given the password of a sign-up that waits for its confirmation and holds the token of its
-- mail. The caller has had auth judge the password; false when the token is not this account's.
create function public.prove_password(email text, token text) returns boolean
language sql volatile security definer
set search_path = ''
as $$
  with proven as (
    update public.client_ids as invitation
    set password_proven_at = now()
    from auth.users as account
    where account.id = invitation.claimed_by
      and account.email = lower(prove_password.email)
      and account.email_confirmed_at is null
      and account.confirmation_token = prove_password.token
    returning true
  )
  select exists (select from proven)
$$;
revoke all on function public.prove_password(text, text) from public, anon, authenticated;
grant execute on function public.prove_password(text, text) to service_role;

-- The mailbox alone confirms nothing, by whatever door of auth: its owner would open the account for whoever chose the
-- password. An account that the company makes confirmed, in one transaction, was signed up by nobody else.
create function private.guard_confirmation() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  if not exists (
    select from public.client_ids
    where claimed_by = new.id and (password_proven_at > now() - interval '1 minute' or claimed_at = now())
  ) then
    raise exception 'the password of this sign-up was not given';
  end if;
  return new;
end
$$;
revoke all on function private.guard_confirmation() from public, anon, authenticated;

create trigger guard_confirmation
before update on auth.users
for each row when (old.email_confirmed_at is null and new.email_confirmed_at is not null)
execute function private.guard_confirmation();

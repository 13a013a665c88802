-- A client ID that was used while somebody else's sign-up held the address has not had its turn yet: an hour later it
-- moves that sign-up, as a fresh one does. Its turn is over once it has made an account or moved one.
alter table public.client_ids add column had_turn boolean not null default false;
update public.client_ids set had_turn = true where claimed_by is not null;

-- Whether a person with this e-mail may sign up with this client ID. It is asked before the sign-up, and makes way for
-- it: an account of that address which nobody ever confirmed may be a stranger's, who chose its password, and goes. Its
-- client ID stays spent. For an hour from the first use of its client ID an account stays: whoever reads the mailbox has
-- that long to confirm it. A client ID that had its turn moves only the account it made, a minute later at the earliest,
-- so that nobody's mailbox is flooded: else two IDs could take turns, and nobody would ever get in.
create or replace function public.admit_sign_up(client_id text, email text) returns boolean
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
      when invitation.had_turn then
        invitation.claimed_by = account.id and account.created_at < now() - interval '1 minute'
      else not exists (
        select from public.client_ids as holder
        where holder.claimed_by = account.id and holder.used_at > now() - interval '1 hour'
      )
    end
  for update;
  if found then
    update public.client_ids as spent
    set claimed_by = null, claimed_at = null, password_proven_at = null
    where spent.claimed_by = pending;
    delete from auth.users where users.id = pending;
    -- Spent at once, and its hour begins: one client ID moves one account, however many sign-ups come together.
    update public.client_ids as spent
    set used_with = mark, had_turn = true, used_at = case when spent.had_turn then spent.used_at else now() end
    where spent.client_id = admit_sign_up.client_id;
  end if;
  return true;
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
  set claimed_by = new.id, claimed_at = now(), used_with = mark, had_turn = true,
    used_at = case when had_turn then used_at else now() end
  where client_ids.client_id = id and claimed_by is null and coalesce(used_with, mark) = mark;
  if not found then
    raise exception 'no unclaimed client ID in the new user''s metadata';
  end if;
  return new;
end
$$;

-- Client IDs: the company's invitations. Each opens one account, once.

-- A new client ID such as 7K3Q-X9MD-2HTV-W5BC: 16 characters of Crockford's base 32 (no I, L, O, U), 80 random bits.
create function private.new_client_id() returns text
language sql volatile
set search_path = ''
as $$
  select string_agg(
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', get_byte(random.bytes, i) % 32 + 1, 1)
      || case when i in (3, 7, 11) then '-' else '' end,
    '' order by i
  )
  from (select extensions.gen_random_bytes(16) as bytes) as random, generate_series(0, 15) as i
$$;
revoke all on function private.new_client_id() from public;
grant execute on function private.new_client_id() to service_role;

create table public.client_ids (
  client_id text primary key default private.new_client_id() check (char_length(client_id) between 12 and 64),
  claimed_by uuid unique references auth.users (id) on delete restrict,
  claimed_at timestamptz,
  created_at timestamptz not null default now(),
  check ((claimed_by is null) = (claimed_at is null))
);

alter table public.client_ids enable row level security;
revoke all on table public.client_ids from anon, authenticated;
grant select, insert, delete on table public.client_ids to service_role;

-- Whether a person with this e-mail may sign up with this client ID: it is unclaimed, or it was claimed by the same
-- e-mail and that account still waits for its confirmation (signing up again sends the message again).
create function public.client_id_admits(client_id text, email text) returns boolean
language sql stable security definer
set search_path = ''
as $$
  select exists (
    select 1
    from public.client_ids as invitation
    left join auth.users as owner on owner.id = invitation.claimed_by
    where invitation.client_id = client_id_admits.client_id
      and (
        invitation.claimed_by is null
        or (owner.email = lower(client_id_admits.email) and owner.confirmed_at is null)
      )
  )
$$;
revoke all on function public.client_id_admits(text, text) from public, anon, authenticated;
grant execute on function public.client_id_admits(text, text) to service_role;

-- Auth hook `before_user_created`: gives the refusal its words. An unknown and a used client ID get the same ones.
create function private.before_user_created(event jsonb) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if exists (
    select 1 from public.client_ids
    where client_id = event -> 'user' -> 'user_metadata' ->> 'client_id' and claimed_by is null
  ) then
    return '{}'::jsonb;
  end if;
  return jsonb_build_object('error', jsonb_build_object(
    'http_code', 400,
    'message', 'This Client ID is not known or has been used. Ask the company for a new one.'
  ));
end
$$;
revoke all on function private.before_user_created(jsonb) from public, anon, authenticated;
grant execute on function private.before_user_created(jsonb) to supabase_auth_admin;

-- The gate itself: the client ID is claimed in the transaction that makes the user, or neither happens.
create function private.claim_client_id() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  update public.client_ids
  set claimed_by = new.id, claimed_at = now()
  where client_id = new.raw_user_meta_data ->> 'client_id' and claimed_by is null;
  if not found then
    raise exception 'no unclaimed client ID in the new user''s metadata';
  end if;
  return new;
end
$$;
revoke all on function private.claim_client_id() from public, anon, authenticated;

create trigger claim_client_id
after insert on auth.users
for each row execute function private.claim_client_id();

-- New client IDs, 1 to 1000 at once. For staff only.
create function public.issue_client_ids(how_many integer default 1) returns setof public.client_ids
language sql volatile
set search_path = ''
as $$
  insert into public.client_ids (client_id)
  select private.new_client_id() from generate_series(1, least(how_many, 1000))
  returning *
$$;
revoke all on function public.issue_client_ids(integer) from public, anon, authenticated;
grant execute on function public.issue_client_ids(integer) to service_role;
